# Sends the card in card.json with the payment in credential.txt, which another tool has made.
# credential.txt has one line, Authorization: Payment and the credential; no other user may read it.
BASE_URL=${BASE_URL:-"{{ base_url }}"}
curl -sS -X POST "$BASE_URL/api/mpp/postcards" \
  -H 'Content-Type: application/json' --data-binary @card.json \
  -H @credential.txt -D headers.txt -w '\n'
grep -i '^payment-receipt:' headers.txt
