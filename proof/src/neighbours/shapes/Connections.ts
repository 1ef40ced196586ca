/** Bytes of requests, for shapes that need connections of their own. */
import { once } from "node:events"
import type { Socket } from "node:net"
import type { Attack } from "../Attack.ts"

/** Returns the head of a request, without the empty line that ends it. */
export const openHead = (attack: Attack, line: string, headers: ReadonlyArray<string> = []): string =>
  `${[`${line} HTTP/1.1`, `host: ${attack.host}`, ...headers].join("\r\n")}\r\n`

/** Returns the complete head of a request. */
export const head = (attack: Attack, line: string, headers: ReadonlyArray<string> = []): string =>
  `${openHead(attack, line, headers)}\r\n`

/** Opens `count` connections in groups, because a listening socket queues only some hundred of them. */
export const openMany = async (attack: Attack, count: number, open: () => Socket): Promise<ReadonlyArray<Socket>> => {
  const sockets: Array<Socket> = []
  while (sockets.length < count && !attack.isOver) {
    for (let n = 0; n < 100 && sockets.length < count; n++) sockets.push(open())
    await attack.pause(20)
  }
  return sockets
}

/** Writes until the attack is over or the connection has ended, with back-pressure. */
export const writeAll = async (attack: Attack, socket: Socket, chunks: Iterable<string | Buffer>): Promise<void> => {
  for (const chunk of chunks) {
    if (attack.isOver || !socket.writable) return
    if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), attack.closed(socket)])
  }
}

/** Sends `depth` copies of a request at once on each of `connections`, and again when all have their responses. */
export const pipeline = async (
  attack: Attack,
  { connections, depth, request }: { readonly connections: number; readonly depth: number; readonly request: string }
): Promise<void> => {
  const copies = Buffer.from(request.repeat(depth))
  // The server closes the connection after the last request, so that the next round uses a new one.
  const last = request.replace("\r\n", "\r\nconnection: close\r\n")
  await attack.clients(connections, async () => {
    const socket = attack.open(copies)
    socket.write(last)
    await attack.closed(socket)
  })
}
