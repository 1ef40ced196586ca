/** The servers that programs of a suite share, each started when the first asks for it. */
import { type PostgresServer, postgres, type RedisServer, redis } from "@weft/tooling/services"
import { questions } from "../nodes/Question.ts"

/** Both survive a loss of power with all that they said was done. */
export type Service = "postgres" | "redis"

const postgresSettings = { shared_buffers: "512MB", max_wal_size: "4GB" }

/** A sentence for who reads the figures. */
export const settingsOfServices: Readonly<Record<Service, string>> = {
  postgres: `PostgreSQL 18, one server, a database for each; fsync=on, synchronous_commit=on, full_page_writes=on, ${Object.entries(
    postgresSettings
  )
    .map(([name, value]) => `${name}=${value}`)
    .join(", ")}`,
  redis: "Redis, appendonly=yes, appendfsync=always"
}

export class Services {
  #postgres: Promise<PostgresServer> | undefined
  #redis: Promise<RedisServer> | undefined
  #databases = 0

  /** The URL for one program. */
  async urlOf(service: Service): Promise<string> {
    if (service === "postgres") return this.#database()
    this.#redis ??= redis({ durable: true })
    return (await this.#redis).url
  }

  /** A new and empty one. */
  async #database(): Promise<string> {
    this.#postgres ??= postgres({ durable: true, settings: postgresSettings })
    const { url } = await this.#postgres
    const name = `bench_${++this.#databases}`
    await questions(url)(`CREATE DATABASE ${name}`)
    const own = new URL(url)
    own.pathname = `/${name}`
    return own.href
  }

  async close(): Promise<void> {
    await (await this.#postgres)?.remove()
    await (await this.#redis)?.remove()
  }
}
