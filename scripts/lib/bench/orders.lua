-- Requests for the status of random orders. IDENTIFIERS is a file with one order id of 32 characters in each line.
local list = assert(io.open(os.getenv("IDENTIFIERS"), "rb"))
local count = list:seek("end") / 33
function init(arguments) math.randomseed(tonumber(arguments[1])) end
function request()
  list:seek("set", 33 * math.random(0, count - 1))
  return wrk.format("GET", "/api/x402/orders/" .. list:read(32))
end
