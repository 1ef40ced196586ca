/**
 * Requests of the `minio` client with time limits.
 *
 * The client has no timeouts, keeps connections of unread responses, and waits and prints on its own when S3 is busy. So
 * each request has a client of its own, which costs microseconds, on shared connections.
 */
import http from "node:http"
import https from "node:https"
import { Effect, Redacted, type Scope } from "effect"
import { Client, type ClientOptions } from "minio"
import { failureOf, S3Failure, tooLate } from "./S3Failure.ts"
import { defaultRegion, type S3Options } from "./S3Options.ts"

export interface S3Transport {
  /** Fails when S3 rejects the request, or after so many milliseconds. The result of `run` may be used afterwards. */
  readonly request: <A>(ms: number, run: (client: Client) => Promise<A>) => Effect.Effect<A, S3Failure>
}

/** Idle time in milliseconds after which connections are closed, shorter than that of servers and proxies. */
const idleMs = 4000

export const makeS3Transport = (options: S3Options): Effect.Effect<S3Transport, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => makeAgent(options)),
      (agent) => Effect.sync(() => agent.destroy())
    ),
    (agent): S3Transport => ({
      request: (ms, run) =>
        Effect.tryPromise({
          try: (signal) => sendRequest(options, agent, ms, signal, run),
          catch: (error) => (error instanceof S3Failure ? error : failureOf(error, null))
        })
    })
  )

const makeAgent = ({ tls = true }: S3Options): http.Agent => {
  const settings = { keepAlive: true, timeout: idleMs }
  return tls ? new https.Agent(settings) : new http.Agent(settings)
}

const sendRequest = async <A>(
  options: S3Options,
  agent: http.Agent,
  ms: number,
  interrupted: AbortSignal,
  run: (client: Client) => Promise<A>
): Promise<A> => {
  const ending = new AbortController()
  const answer: Answer = { status: null }
  let isLate = false
  const end = () => ending.abort()
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, ms)
  interrupted.addEventListener("abort", end)
  try {
    return await run(makeClient(options, agent, ending.signal, answer))
  } catch (error) {
    // Frees the connection of an unread response.
    end()
    throw isLate ? tooLate : failureOf(error, answer.status)
  } finally {
    clearTimeout(timer)
    interrupted.removeEventListener("abort", end)
  }
}

interface Answer {
  status: number | null
}

const makeClient = (options: S3Options, agent: http.Agent, signal: AbortSignal, answer: Answer): Client =>
  new Client({
    ...clientOptions(options),
    transport: { request: requestWith((options.tls ?? true) ? https : http, signal, answer) },
    transportAgent: agent,
    retryOptions: { disableRetry: true }
  })

/** Returns the options of the client. Without a region the client would send a request for it. */
export const clientOptions = (options: S3Options): ClientOptions => {
  const { endpoint, port, tls = true, region = defaultRegion, credentials, forcePathStyle = true } = options
  const { accessKeyId, secretAccessKey } = credentials
  return {
    endPoint: endpoint,
    ...(port === undefined ? {} : { port }),
    useSSL: tls,
    region,
    accessKey: accessKeyId,
    secretKey: typeof secretAccessKey === "string" ? secretAccessKey : Redacted.value(secretAccessKey),
    pathStyle: forcePathStyle
  }
}

type Listener = (response: http.IncomingMessage) => void

const requestWith =
  (transport: typeof http | typeof https, signal: AbortSignal, answer: Answer): typeof http.request =>
  (options: http.RequestOptions | string | URL, second?: http.RequestOptions | Listener, third?: Listener) => {
    const listener = typeof second === "function" ? second : third
    const given = typeof options === "string" || options instanceof URL ? {} : options
    return transport.request({ ...given, signal }, (response) => {
      answer.status = response.statusCode ?? null
      listener?.(response)
    })
  }
