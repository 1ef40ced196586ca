/** Starts a private Redis server from the Debian package on a free loopback port. */
import { randomBytes } from "node:crypto"
import { daemons } from "./Daemons.ts"
import { installed } from "./Debian.ts"
import { freePort } from "./Port.ts"

export interface RedisOptions {
  /** True if acknowledged writes must survive a power failure; default false, which writes nothing to disk. */
  readonly durable?: boolean
}

export interface RedisServer {
  /** `redis://:PASSWORD@127.0.0.1:PORT` */
  readonly url: string
  /** Stops the server and removes its folder. */
  readonly remove: () => Promise<void>
}

const redisPackages = ["redis-server"]

/** Starts a server that requires a password and never evicts keys. */
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
