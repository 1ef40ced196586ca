/** Servers that the programs of a suite share, started on first use. */
import { type PostgresServer, postgres, type RedisServer, redis } from "@weft/tooling/services"
import { queryAt } from "../instruments/Query.ts"

/** Both keep acknowledged writes after a power failure. */
export type Service = "postgres" | "redis"

const postgresSettings = { shared_buffers: "512MB", max_wal_size: "4GB" }

/** Settings that are shown with the figures. */
export const settingsOfServices: Readonly<Record<Service, string>> = {
  postgres: `PostgreSQL 18, one server, one database each; fsync=on, synchronous_commit=on, full_page_writes=on, ${Object.entries(
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

  /** Returns a URL for one program. */
  async openUrl(service: Service): Promise<string> {
    if (service === "postgres") return this.#database()
    this.#redis ??= redis({ durable: true })
    return (await this.#redis).url
  }

  /** Creates an empty database. */
  async #database(): Promise<string> {
    this.#postgres ??= postgres({ durable: true, settings: postgresSettings })
    const { url } = await this.#postgres
    const name = `bench_${++this.#databases}`
    await queryAt(url)(`CREATE DATABASE ${name}`)
    const own = new URL(url)
    own.pathname = `/${name}`
    return own.href
  }

  async close(): Promise<void> {
    await (await this.#postgres)?.remove()
    await (await this.#redis)?.remove()
  }
}
