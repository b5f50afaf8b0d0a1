-- What was kept of the attempts of jobs and is not over.
--
-- KEYS  the attempts of each job
-- ARGV  call
-- Returns of each job that has some the number of its key, from 0 on, and its records.
-- include: call

local found = {}
for n = 1, #KEYS do
  local records = {}
  for _, value in ipairs(unspoilt(redis.pcall('HVALS', KEYS[n]))) do
    if #value > 8 and struct.unpack('>I8', value) > NOW then
      records[#records + 1] = string.sub(value, 9)
    end
  end
  if #records > 0 then
    found[#found + 1] = n - 1
    found[#found + 1] = records
  end
end
return found
