/*
 * KEYS of all but the last: the generation, a body, and the claim to request it from upstream. A body begins with its
 * generation and a space; a claim consists of a digit for the rank, a space and its name.
 */

/**
 * ARGV: rank and name of the claim, and its duration in milliseconds. Returns the generation, 1 if the claim was
 * granted, and the body.
 */
export const opening = `
local time = redis.call('TIME')
local generation = redis.call('GET', KEYS[1])
if not generation then
  generation = time[1] .. '.' .. time[2]
  redis.call('SET', KEYS[1], generation)
end
-- A day and an hour: longer than any body lives.
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

/** ARGV: a rank. Returns 1 if there is a claim at least as urgent. */
export const readingClaim = `
local asked = redis.call('GET', KEYS[3])
return {redis.call('TIME'), asked and tonumber(string.sub(asked, 1, 1)) <= tonumber(ARGV[1]) and 1 or 0}`;

/** ARGV: the generation, the body and its lifetime in milliseconds; without a body the stored one is deleted. */
export const storing = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if ARGV[2] then
    redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
    redis.call('PEXPIRE', KEYS[1], 90000000)
  else
    redis.call('DEL', KEYS[2])
  end
end
return {redis.call('TIME')}`;

/** ARGV: rank and name of the claim to extend, and its duration from now in milliseconds. */
export const claiming = `
local asked = redis.call('GET', KEYS[3])
if asked and string.sub(asked, 3) == ARGV[2] then redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3]) end
return {redis.call('TIME')}`;

/** ARGV: name of the claim to release. */
export const leaving = `
local asked = redis.call('GET', KEYS[3])
if asked and string.sub(asked, 3) == ARGV[1] then redis.call('DEL', KEYS[3]) end
return {redis.call('TIME')}`;

/** KEYS: the generation. After its deletion the next `opening` begins a new one. */
export const forgetting = `
redis.call('DEL', KEYS[1])
return {redis.call('TIME')}`;
