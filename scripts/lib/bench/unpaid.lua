-- Requests for distinct cards without payment; the same card twice would be one order.
-- Arguments: a word that no other turn has, and how many requests to prepare.
local number, turn, written = 0, "", {}
local function write(number)
  local body = '{"front_image_url":"https://images.example.org/sea.jpg","message":"The sea says hello, number '
    .. number .. ' of ' .. turn .. '.","recipient":{"name":"Ada Lovelace","address":"12 St James Square",'
    .. '"city":"London","province":"London","postal_code":"SW1Y 4JH","country":"GB"}}'
  return wrk.format("POST", nil, { ["content-type"] = "application/json" }, body)
end
-- Prepared before the measurement, because wrk shares the cores with the servers.
function init(arguments)
  turn = arguments[1]
  for ahead = 1, tonumber(arguments[2]) do written[ahead] = write(ahead) end
end
function request()
  number = number + 1
  return written[number] or write(number)
end
