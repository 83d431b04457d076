/**
 * Adds to the journal. KEYS: the stream, the requests sent in each ten minutes of a day, what stands. ARGV: the writer, the
 * last entry it has heard and when nothing came after it, then for each new entry its text, how many requests it counts
 * for, for how many milliseconds it stands, and 1 where it is added in any case.
 *
 * Answers with whether the others were added too, the last entry there is, the time, what was not heard as a list of times
 * and texts, and for one that has heard nothing for longer than a minute the counts of the day and what stands.
 */
export const addScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stream, sent, standing = KEYS[1], KEYS[2], KEYS[3]
local writer, heard, heardAt = ARGV[1], ARGV[2], tonumber(ARGV[3])
local reach = 65000
local slot = math.floor(now / 600000)

local function parts(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function isBefore(one, other)
  local ms, seq = parts(one)
  local otherMs, otherSeq = parts(other)
  return ms < otherMs or (ms == otherMs and seq < otherSeq)
end

local newest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local last = newest and newest[1] or ''
-- A stream that ends before what was heard of it is another one: Redis has lost the first.
local isLost = newest and heard ~= '' and isBefore(last, heard)
local isNew = heard == '' or isLost or now - heardAt > reach or now < heardAt
local from = isNew and string.format('%.0f', now - reach) or '(' .. heard
local entries = {}
if newest then
  for _, entry in ipairs(redis.call('XRANGE', stream, from, '+')) do
    if entry[2][2] ~= writer then
      entries[#entries + 1] = string.match(entry[1], '^%d+')
      entries[#entries + 1] = entry[2][4]
    end
  end
end

local isOpen = not isNew and #entries == 0
for at = 4, #ARGV, 4 do
  if isOpen or ARGV[at + 3] == '1' then
    last = redis.call('XADD', stream, 'MAXLEN', '~', 5000, '*', 'writer', writer, 'text', ARGV[at])
    redis.call('PEXPIRE', stream, 600000)
    local count, lasts = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    if count > 0 then
      redis.call('HINCRBY', sent, slot, count)
      redis.call('PEXPIRE', sent, 90000000)
    end
    if lasts > 0 and redis.call('PTTL', standing) < lasts then
      redis.call('SET', standing, string.format('%.0f ', now) .. ARGV[at], 'PX', lasts)
    end
  end
end
-- After what was added: nothing of it is told again.
local counts, stands = {}, {}
if isNew then
  local all = redis.call('HGETALL', sent)
  for at = 1, #all, 2 do
    if tonumber(all[at]) < slot - 145 then
      redis.call('HDEL', sent, all[at])
    else
      counts[#counts + 1] = all[at]
      counts[#counts + 1] = all[at + 1]
    end
  end
  local ms, text = string.match(redis.call('GET', standing) or '', '^(%d+) (.*)$')
  if ms then stands = {ms, text} end
end

if last == '' then last = '0-0' end
return {time, isOpen and 1 or 0, last, string.format('%.0f', now), entries, counts, stands}`;
