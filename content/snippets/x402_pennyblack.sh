# Pays for the card in card.json and prints challenge, settlement and order.
# payer.key has one line, 0x and 64 hexadecimal digits; no other user may read it.
BASE_URL=${BASE_URL:-"{{ base_url }}"}
pennyblack pay --body card.json --base-url "$BASE_URL" --key-file payer.key --max 3.50 --yes
