/*
 * KEYS of all but the last: the generation, a body of it, and who asks upstream for it. A body begins with its generation
 * and a space; who asks with a digit for the urgency and a space.
 */

/**
 * ARGV: how urgent, who, and for how many milliseconds others need not ask. Answers with the generation, whether it is for
 * this one to ask, and the body.
 */
export const opening = `
local time = redis.call('TIME')
local generation = redis.call('GET', KEYS[1])
if not generation then
  generation = time[1] .. '.' .. time[2]
  redis.call('SET', KEYS[1], generation)
end
-- A day and an hour: longer than any body.
redis.call('PEXPIRE', KEYS[1], 90000000)
local asked = redis.call('GET', KEYS[3])
local isOurs = not asked or tonumber(string.sub(asked, 1, 1)) > tonumber(ARGV[1])
if isOurs then redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3]) end
local body = redis.call('GET', KEYS[2])
local start = generation .. ' '
if body and string.sub(body, 1, #start) == start then
  body = string.sub(body, #start + 1)
else
  body = false
end
return {time, generation, isOurs and 1 or 0, body}`;

/** ARGV: how urgent. Answers with whether somebody asks at least as urgently. */
export const looking = `
local asked = redis.call('GET', KEYS[3])
return {redis.call('TIME'), asked and tonumber(string.sub(asked, 1, 1)) <= tonumber(ARGV[1]) and 1 or 0}`;

/** ARGV: the generation, and what is kept of it for how many milliseconds; without it nothing is. */
export const keeping = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if ARGV[2] then
    redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
    redis.call('PEXPIRE', KEYS[1], 90000000)
  else
    redis.call('DEL', KEYS[2])
  end
end
return {redis.call('TIME')}`;

/** ARGV: how urgent, who asks still, and for how many milliseconds more. */
export const claiming = `
local asked = redis.call('GET', KEYS[3])
if asked and string.sub(asked, 3) == ARGV[2] then redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3]) end
return {redis.call('TIME')}`;

/** ARGV: who asks no longer. */
export const leaving = `
local asked = redis.call('GET', KEYS[3])
if asked and string.sub(asked, 3) == ARGV[1] then redis.call('DEL', KEYS[3]) end
return {redis.call('TIME')}`;

/** KEYS: the generation. With none, the next one is another. */
export const forgetting = `
redis.call('DEL', KEYS[1])
return {redis.call('TIME')}`;
