import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** From the line that a server logs at its start; what it logs after it is read and dropped, or the pipe would fill. */
export function urlOf(log: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const look = (chunk: Buffer) => {
      seen += chunk;
      const url = /"url":"([^"]+)"/.exec(seen)?.[1];
      if (!url) return;
      log.off('data', look).resume();
      resolve(new URL(url).origin);
    };
    log.on('data', look);
    log.once('end', () => reject(new Error(`The server did not start: ${seen}`)));
  });
}

export function residentMiB(pid: number | undefined): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

/**
 * User and system time of a process, in the kernel's hundredths of a second: unlike what a clock says, it does not depend
 * on what else the machine does.
 */
export function processorMs(pid: number | undefined): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The process and all that it started, as workers are; those that have ended are not among them. */
export function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}

/** The port that the process, or one that it started, listens on; null until there is one. */
export function listeningPortOf(pid: number): number | null {
  const listening = new Map<string, number>();
  for (const line of readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (state === '0A') listening.set(`socket:[${inode}]`, Number.parseInt(local.slice(-4), 16));
  }
  for (const member of familyOf(pid)) {
    for (const descriptor of readdirSync(`/proc/${member}/fd`)) {
      const port = listening.get(linkOf(`/proc/${member}/fd/${descriptor}`));
      if (port !== undefined) return port;
    }
  }
  return null;
}

// A descriptor may be closed between the listing and the look at it.
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
