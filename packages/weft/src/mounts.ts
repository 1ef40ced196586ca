/** The HTTP mounts of one instance, which end with it. */
import * as Http from "@weft/http"
import { Redacted } from "effect"
import type { ListenOptions, Weft } from "./Weft.ts"
import type { HttpOptions, LimitOptions } from "./WeftOptions.ts"

type Runtime = Parameters<typeof Http.node>[0]

interface Closable {
  readonly close: () => Promise<void>
}

export interface Mounts extends Pick<Weft, "express" | "fastify" | "hono" | "fetch" | "node" | "listen"> {
  /** Closes every mount. */
  readonly close: () => Promise<void>
}

export const makeMounts = (runtime: Runtime, http: HttpOptions = {}, limits: LimitOptions = {}): Mounts => {
  const options = toMountOptions(http, limits)
  const opened = new Set<Closable>()
  const opening = <M extends Closable>(mount: M): M => {
    opened.add(mount)
    return mount
  }
  const fetch = () => opening(Http.fetch(runtime, options))
  return {
    express: (more) => opening(Http.express(runtime, { ...options, ...more })),
    fastify: (more) => opening(Http.fastify(runtime, { ...options, ...more })),
    fetch,
    hono: () => {
      const mounted = fetch()
      return ({ req }) => mounted(req.raw)
    },
    node: () => opening(Http.node(runtime, options)),
    listen: async (address: ListenOptions = {}) => opening(await Http.listen(runtime, { ...options, ...address })),
    close: async () => {
      await Promise.all([...opened].map((mount) => mount.close()))
    }
  }
}

/** Throws if a token is invalid. Called before the start, so that nothing needs to be closed. */
export const checkTokens = ({ adminToken, metricsToken }: HttpOptions = {}): void => {
  for (const [name, token] of Object.entries({ adminToken, metricsToken })) {
    if (token === undefined || Http.isHostToken(token)) continue
    throw new TypeError(`\`http.${name}\` must be 16 to 512 visible ASCII characters without spaces`)
  }
}

const toMountOptions = (
  { adminToken, metricsToken, ...http }: HttpOptions,
  { archiveBytes, bodyBytes }: LimitOptions
): NonNullable<Parameters<typeof Http.node>[1]> => ({
  ...http,
  ...(adminToken === undefined ? {} : { adminToken: Redacted.make(adminToken) }),
  ...(metricsToken === undefined ? {} : { metricsToken: Redacted.make(metricsToken) }),
  ...(archiveBytes === undefined ? {} : { archiveBytes }),
  ...(bodyBytes === undefined ? {} : { bodyBytes })
})
