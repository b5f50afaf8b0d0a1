-- What an ended job owes to its dependents. The step that ends it notes it in ENDINGS; whoever sees
-- to it (see dependents, release, settle) drops the note when no edge is left that it is about.
--   the last number of an edge that it is about I8, how the job ended B, its id (length H before it),
--   why dependents are cancelled: empty if it is by the end of this very job
-- define: WAS_DELETED 8
local endings, last_edge = {}, nil
local function owe_dependents(id, how, why)
  last_edge = last_edge or redis.call('HGET', META, 'edges') or 0
  endings[#endings + 1] = struct.pack('>I8BH', last_edge, how, #id) .. id .. (why or '')
end

-- Of a job that has just ended. If it is to live again, it will have other dependents.
local function end_for_dependents(job, how, why)
  if has(job.more, HAS_DEPENDENTS) == 0 then return end
  job.more = job.more - HAS_DEPENDENTS
  owe_dependents(job.id, how, why)
end

-- Writes them down; those that the caller is to see to. If the answer to a first sending was lost,
-- they may be of that one, among the others that there are.
local function write_endings()
  if #endings > 0 then
    local first = redis.call('HINCRBY', META, 'endings', #endings) - #endings
    local scored = {}
    for n, ending in ipairs(endings) do
      scored[2 * n - 1], scored[2 * n] = first + n, ending
    end
    variadic('ZADD', ENDINGS, scored)
  end
  return AGAIN and redis.call('ZRANGE', ENDINGS, 0, 249) or endings
end
