import type { AddressInfo, Server } from 'node:net';

/** An open port. */
export interface Listener {
  readonly port: number;
  /** Without a path. */
  readonly url: string;
  /** Stops accepting connections; resolves when all open ones are closed. */
  close(): Promise<void>;
}

/**
 * Listens and returns the address; port 0 takes a free one. Rejects when the address is not available, with a message
 * that names the setting to change.
 */
export function listen(server: Server, port: number, host: string): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(new Error(reasonOf(error, port, host)));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const { port: taken } = server.address() as AddressInfo;
      resolve({
        port: taken,
        url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
        close: () => new Promise((closed) => server.close(() => closed())),
      });
    });
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT ${port} is taken: something else listens on it at HOST ${host}; set another, or 0 for a free one`;
    case 'EACCES':
      return `PORT ${port} is not for this user: set one from 1024 on`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is no address of this machine`;
    default:
      return `HOST ${host} and PORT ${port} cannot be listened on: ${message}`;
  }
}
