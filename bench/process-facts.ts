import { readFileSync } from 'node:fs';

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
