-- Admits the token ARGV[1] and keeps it in KEYS[1]. With KEYS[2] it also sets
-- that key to ARGV[2]; without, it is the seal, a new leader's first call. Redis
-- runs a script as a whole, so nothing comes between the check and the write.
-- The error STALETOKEN gives the highest token; nothing was changed then.
local function term(token)
  return tonumber(string.match(token, '^(%d+);node=%d+;incarnation=%x+$'))
end

local mine = term(ARGV[1])
if not mine then
  return redis.error_reply('MALFORMEDTOKEN ' .. ARGV[1])
end
local highest = redis.call('GET', KEYS[1])
-- A token has one spelling: equal texts are equal tokens.
if highest and highest ~= ARGV[1] and mine <= term(highest) then
  return redis.error_reply('STALETOKEN ' .. highest)
end
redis.call('SET', KEYS[1], ARGV[1])
if KEYS[2] then
  redis.call('SET', KEYS[2], ARGV[2])
end
return redis.status_reply('OK')
