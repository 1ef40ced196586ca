/** Agents of `node:http`. The host decides about connections, so an agent has options only. */
import { EventEmitter } from "node:events"
import { refuse } from "../refuse.ts"

export class Agent extends EventEmitter {
  readonly options: object
  readonly requests = {}
  readonly sockets = {}
  readonly freeSockets = {}
  readonly maxSockets = Number.POSITIVE_INFINITY
  readonly maxFreeSockets = 256
  readonly keepAlive: boolean
  readonly protocol: string = "http:"
  readonly defaultPort: number = 80
  readonly createConnection = refuse(
    "http.Agent.createConnection",
    "requests of functions leave by `fetch`, without proxies"
  )

  constructor(options: { readonly keepAlive?: boolean } = {}) {
    super()
    this.options = options
    this.keepAlive = options.keepAlive ?? false
  }

  getName(): string {
    return ""
  }

  destroy(): void {}
}

export class HttpsAgent extends Agent {
  override readonly protocol = "https:"
  override readonly defaultPort = 443
}
