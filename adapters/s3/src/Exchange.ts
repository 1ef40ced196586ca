/**
 * Requests by the `minio` client that end in time.
 *
 * The client knows no timeouts, keeps connections of answers that it does not read, and waits and prints on its own
 * when S3 is busy. So each request has a client of its own, which costs microseconds, around shared connections.
 */
import http from "node:http"
import https from "node:https"
import { Effect, Redacted, type Scope } from "effect"
import { Client, type ClientOptions } from "minio"
import { failureOf, S3Failure, tooLate } from "./S3Failure.ts"
import { defaultRegion, type S3Options } from "./S3Options.ts"

export interface Exchange {
  /** Fails when S3 refuses, or after so many milliseconds. What `run` gives back may go on afterwards. */
  readonly ask: <A>(ms: number, run: (client: Client) => Promise<A>) => Effect.Effect<A, S3Failure>
}

/** Connections that nobody uses are closed before servers and what stands between them do, in milliseconds. */
const idleMs = 4000

export const makeExchange = (options: S3Options): Effect.Effect<Exchange, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => makeAgent(options)),
      (agent) => Effect.sync(() => agent.destroy())
    ),
    (agent): Exchange => ({
      ask: (ms, run) =>
        Effect.tryPromise({
          try: (signal) => exchange(options, agent, ms, signal, run),
          catch: (error) => (error instanceof S3Failure ? error : failureOf(error, null))
        })
    })
  )

const makeAgent = ({ useSSL = true }: S3Options): http.Agent => {
  const settings = { keepAlive: true, timeout: idleMs }
  return useSSL ? new https.Agent(settings) : new http.Agent(settings)
}

const exchange = async <A>(
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
    // Frees the connection of an answer that nobody has read.
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
    transport: { request: requestWith((options.useSSL ?? true) ? https : http, signal, answer) },
    transportAgent: agent,
    retryOptions: { disableRetry: true }
  })

/** Without a region the client would ask for it. */
export const clientOptions = (options: S3Options): ClientOptions => {
  const { endPoint, port, useSSL = true, region = defaultRegion, accessKey, secretKey, pathStyle = true } = options
  return {
    endPoint,
    ...(port === undefined ? {} : { port }),
    useSSL,
    region,
    accessKey,
    secretKey: Redacted.value(secretKey),
    pathStyle
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
