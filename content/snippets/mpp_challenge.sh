# Asks for the price of the card in card.json, and shows the challenge and what it asks for.
BASE_URL=${BASE_URL:-"{{ base_url }}"}
curl -sS -X POST "$BASE_URL/api/mpp/postcards" \
  -H 'Content-Type: application/json' --data-binary @card.json \
  -D headers.txt -o problem.json
grep -i '^www-authenticate: payment' headers.txt | tr -d '\r' | tee challenge.txt
# The request in it is base64 for URLs, whose padding base64 wants back.
request=$(sed 's/.* request="\([^"]*\)".*/\1/' challenge.txt | tr '_-' '/+')
while [ $((${#request} % 4)) -ne 0 ]; do request="$request="; done
printf '%s' "$request" | base64 --decode
