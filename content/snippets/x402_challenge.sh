# Asks for the price of the card in card.json, and shows the challenge.
BASE_URL=${BASE_URL:-"{{ base_url }}"}
curl -sS -X POST "$BASE_URL/api/x402/postcards" \
  -H 'Content-Type: application/json' --data-binary @card.json \
  -D headers.txt -o offer.json
grep -i '^payment-required:' headers.txt | cut -d' ' -f2 | tr -d '\r' | base64 --decode > challenge.json
cat challenge.json
