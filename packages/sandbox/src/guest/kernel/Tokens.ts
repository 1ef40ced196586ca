/** The tokens that a durable function has created. Only these can be waited for. */
import type { Durable } from "./Durable.ts"
import { getProperty, mapGet, mapSet, NativeMap, NativeTypeError } from "./primordials.ts"
import { checkName } from "./requests.ts"

interface CreatedToken {
  /** Number of the request that created the token. */
  readonly seq: number
  readonly name: string
}

export class Tokens {
  readonly #durable: Durable
  /** By their texts. */
  readonly #created = new NativeMap<unknown, CreatedToken>()

  constructor(durable: Durable) {
    this.#durable = durable
  }

  /** Creates a token. The host returns `{ url, token, id }`. */
  async create(givenName: unknown, options: unknown): Promise<unknown> {
    const name = checkName("createToken", givenName)
    const ms: unknown = typeof options === "object" && options !== null ? getProperty(options, "timeout") : undefined
    const seq = this.#durable.nextSeq
    const created = await this.#durable.request("workflow.token", "token", name, { ms })
    mapSet(this.#created, readToken(created), { seq, name })
    return created
  }

  /** Waits for the completion of a token: its text, or the object that contains it. */
  wait(given: unknown): Promise<unknown> {
    const token = mapGet(this.#created, typeof given === "string" ? given : readToken(given))
    if (token === undefined) throw new NativeTypeError("svc.waitForToken takes a token that svc.createToken returned")
    return this.#durable.wait("waitForToken", "completion", token.name, { token: token.seq })
  }
}

/** Returns the text of a token; undefined for anything else. */
const readToken = (token: unknown): unknown =>
  typeof token === "object" && token !== null ? getProperty(token, "token") : undefined
