-- One variadic command for any number of arguments: Lua passes at most some 8,000 at a time.
-- define: MOST 7000
local function variadic(command, key, args)
  local number = #args
  if number == 0 then return end
  if number <= MOST then return redis.call(command, key, unpack(args)) end
  for first = 1, number, MOST do
    redis.call(command, key, unpack(args, first, math.min(first + MOST - 1, number)))
  end
end

-- HMGET for any number of fields.
local function many(key, fields)
  if #fields == 0 then return {} end
  if #fields <= MOST then return redis.call('HMGET', key, unpack(fields)) end
  local found = {}
  for first = 1, #fields, MOST do
    local last = math.min(first + MOST - 1, #fields)
    for n, value in ipairs(redis.call('HMGET', key, unpack(fields, first, last))) do
      found[first + n - 1] = value
    end
  end
  return found
end
