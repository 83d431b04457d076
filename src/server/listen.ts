import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens and tells where; port 0 takes a free one and keeps it. Rejects when the address cannot be had. */
export function listen(server: Server, port: number, host: string): Promise<{ port: number; url: string }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const { port: taken } = server.address() as AddressInfo;
      resolve({ port: taken, url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}` });
    });
  });
}
