/** Watching what happens. */
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { WatchedEventInput } from "../generated/Inputs.ts"
import type { EnvironmentMessage, StreamMessage, WatchedMessage } from "../generated/Messages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { path, queryOf } from "../transport/Path.ts"
import { type Subscribing, type WatchOptions, watch } from "./Watch.ts"

export interface WatchStreamOptions extends WatchOptions {
  /** Only runs of the project with this id or name. */
  readonly project?: string | undefined
}

interface Opening {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: string
}

export class Streams extends Endpoints {
  /**
   * The runs of a stream, and what they emit. Ends with `stream:complete` after five minutes unless it is to `follow`.
   * `GET /v1/streams/{stream_id}/subscribe`
   */
  watch(streamId: string, options: WatchStreamOptions = {}): AsyncGenerator<StreamMessage, void, undefined> {
    return watch(this.#streamOf(streamId, options), options)
  }

  /** Events, runs and streams of the environment, for as long as it is listened to. `GET /v1/env/subscribe` */
  watchEnv(options: WatchOptions = {}): AsyncGenerator<EnvironmentMessage, void, undefined> {
    const open = (after: string | null, isFirst: boolean) =>
      this.#open({ method: "GET", path: "/v1/env/subscribe" }, after, isFirst, options)
    return watch({ open, retry: this.caller.connection.retry }, options)
  }

  /**
   * Publishes an event when the iteration begins, and tells what it sets off; `event:published` comes first.
   * `POST /v1/streams/subscribe-with-event`
   *
   * Fails with `WeftNetworkError` when the connection is lost before that: whether it was published is not known then.
   */
  publishAndWatch(
    input: WatchedEventInput,
    options: WatchStreamOptions = {}
  ): AsyncGenerator<WatchedMessage, void, undefined> {
    let streamId: string | null = null
    const opening: Opening = { method: "POST", path: "/v1/streams/subscribe-with-event", body: JSON.stringify(input) }
    const subscribing: Subscribing<WatchedMessage> = {
      retry: this.caller.connection.retry,
      canReturn: () => streamId !== null,
      onMessage: (message) => {
        if (message.event === "event:published") streamId = message.data.stream_id
      },
      open: (after, isFirst) => {
        if (isFirst) return this.#open(opening, null, isFirst, options)
        if (streamId === null) return Promise.reject(new WeftNetworkError("The stream is not known"))
        return this.#streamOf(streamId, options).open(after, isFirst)
      }
    }
    return watch(subscribing, options)
  }

  #streamOf(streamId: string, options: WatchStreamOptions): Subscribing<StreamMessage> {
    const opening: Opening = {
      method: "GET",
      path: `${path`/v1/streams/${streamId}/subscribe`}${queryOf({ project: options.project })}`
    }
    return {
      open: (after, isFirst) => this.#open(opening, after, isFirst, options),
      retry: this.caller.connection.retry
    }
  }

  /** The first connection is tried as often as other requests; coming back is up to the subscription. */
  #open(opening: Opening, after: string | null, isFirst: boolean, { signal }: WatchOptions): Promise<Response> {
    const options: RequestOptions = { signal, ...(isFirst ? {} : { retry: false }) }
    const headers = { accept: "text/event-stream", ...(after === null ? {} : { "last-event-id": after }) }
    const { method } = opening
    return this.caller.connection.send({ ...opening, headers, isRepeatable: method === "GET", options }, (response) =>
      Promise.resolve(response)
    )
  }
}
