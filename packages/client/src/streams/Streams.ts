/** Subscriptions to streams and environments. */
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { WatchedEventInput } from "../generated/Inputs.ts"
import type { EnvironmentMessage, StreamMessage, WatchedMessage } from "../generated/Messages.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import { buildQuery, path } from "../transport/Path.ts"
import { type SubscriptionSource, type WatchOptions, watch } from "./Watch.ts"

export interface WatchStreamOptions extends WatchOptions {
  /** Only runs of the project with this id or name. */
  readonly project?: string | undefined
}

interface SubscribeRequest {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: string
}

export class Streams extends Endpoints {
  /**
   * Yields the runs of a stream and the data that they emit. Ends with `stream:complete` after five minutes, unless
   * `follow` is set. `GET /v1/streams/{stream_id}/subscribe`
   */
  watch(streamId: string, options: WatchStreamOptions = {}): AsyncGenerator<StreamMessage, void, undefined> {
    return watch(this.#subscribeTo(streamId, options), options)
  }

  /** Yields events, runs and streams of the environment until the loop ends. `GET /v1/env/subscribe` */
  watchEnv(options: WatchOptions = {}): AsyncGenerator<EnvironmentMessage, void, undefined> {
    const open = (after: string | null, isFirst: boolean) =>
      this.#open({ method: "GET", path: "/v1/env/subscribe" }, after, isFirst, options)
    return watch({ open, retry: this.caller.connection.retry }, options)
  }

  /**
   * Publishes an event when the iteration begins, and yields its consequences, starting with `event:published`.
   * `POST /v1/streams/subscribe-with-event`
   *
   * Fails with `WeftNetworkError` if the connection is lost before that message. The event may then be published or not.
   */
  publishAndWatch(
    input: WatchedEventInput,
    options: WatchStreamOptions = {}
  ): AsyncGenerator<WatchedMessage, void, undefined> {
    let streamId: string | null = null
    const request: SubscribeRequest = {
      method: "POST",
      path: "/v1/streams/subscribe-with-event",
      body: JSON.stringify(input)
    }
    const source: SubscriptionSource<WatchedMessage> = {
      retry: this.caller.connection.retry,
      canReconnect: () => streamId !== null,
      onMessage: (message) => {
        if (message.event === "event:published") streamId = message.data.stream_id
      },
      open: (after, isFirst) => {
        if (isFirst) return this.#open(request, null, isFirst, options)
        if (streamId === null) return Promise.reject(new WeftNetworkError("The stream of the event is unknown"))
        return this.#subscribeTo(streamId, options).open(after, isFirst)
      }
    }
    return watch(source, options)
  }

  #subscribeTo(streamId: string, options: WatchStreamOptions): SubscriptionSource<StreamMessage> {
    const request: SubscribeRequest = {
      method: "GET",
      path: `${path`/v1/streams/${streamId}/subscribe`}${buildQuery({ project: options.project })}`
    }
    return {
      open: (after, isFirst) => this.#open(request, after, isFirst, options),
      retry: this.caller.connection.retry
    }
  }

  /** Connects. The first connection has the normal retries. The subscription itself retries reconnects. */
  #open(
    request: SubscribeRequest,
    after: string | null,
    isFirst: boolean,
    { signal }: WatchOptions
  ): Promise<Response> {
    const options: RequestOptions = { signal, ...(isFirst ? {} : { retry: false }) }
    const headers = { accept: "text/event-stream", ...(after === null ? {} : { "last-event-id": after }) }
    const { method } = request
    return this.caller.connection.send({ ...request, headers, isRepeatable: method === "GET", options }, (response) =>
      Promise.resolve(response)
    )
  }
}
