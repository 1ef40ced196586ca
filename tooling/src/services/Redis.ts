/** A Redis of one's own of Debian's package, on a free port of the loopback. */
import { randomBytes } from "node:crypto"
import { daemons } from "./Daemons.ts"
import { installed } from "./Debian.ts"
import { freePort } from "./Port.ts"

export interface RedisOptions {
  /** Whether what it says is done survives a loss of power; default false: then nothing is written to the disk. */
  readonly durable?: boolean
}

export interface RedisServer {
  /** `redis://:PASSWORD@127.0.0.1:PORT` */
  readonly url: string
  /** Ends it and removes its folder. */
  readonly remove: () => Promise<void>
}

export const redisPackages = ["redis-server"]

/** One that only lets in who has the password, and never forgets a key for want of memory. */
export const redis = async ({ durable = false }: RedisOptions = {}): Promise<RedisServer> => {
  installed("Redis", ["redis-server"], redisPackages)
  const port = await freePort()
  const password = randomBytes(12).toString("hex")
  const settings = {
    bind: "127.0.0.1",
    port: String(port),
    requirepass: password,
    save: "",
    "maxmemory-policy": "noeviction",
    ...(durable ? { appendonly: "yes", appendfsync: "always" } : { appendonly: "no" })
  }
  const server = daemons("redis")
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  server.begin("redis", "redis-server", [...args, "--dir", server.dir])
  await server.listening("redis", port)
  return { url: `redis://:${password}@127.0.0.1:${port}`, remove: server.remove }
}
