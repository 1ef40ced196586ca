/** Operations on many runs: the API's methods, counts without effect, waits for the end, and live progress. */
import type { OperationInput } from "./generated/Inputs.ts"
import { OperationsEndpoints } from "./generated/OperationsEndpoints.ts"
import type { Operation, OperationPreview } from "./generated/Records.ts"
import type { KeyedOptions, RequestOptions } from "./RequestOptions.ts"
import { type Message, type WatchOptions, watch } from "./streams/Watch.ts"
import { path } from "./transport/Path.ts"
import { sleep } from "./transport/Retry.ts"

export interface OperationWaitOptions extends RequestOptions {
  /** Called with each state that is read, also with the last. */
  readonly onProgress?: ((operation: Operation) => void) | undefined
  /** Interval of reads in milliseconds; 1,000 by default. */
  readonly intervalMs?: number | undefined
}

const defaultIntervalMs = 1_000

interface OperationMessage extends Message {
  readonly data: Operation
}

export class Operations extends OperationsEndpoints {
  override create(input: OperationInput & { readonly dry_run: true }, options?: KeyedOptions): Promise<OperationPreview>
  override create(
    input: OperationInput & { readonly dry_run?: false | undefined },
    options?: KeyedOptions
  ): Promise<Operation>
  override create(input: OperationInput, options?: KeyedOptions): Promise<OperationPreview | Operation>
  override create(input: OperationInput, options?: KeyedOptions) {
    return super.create(input, options)
  }

  /**
   * Yields the operation as it is now and after each change, at most twice per second, until it has ended. Reconnects
   * automatically. `GET /v1/operations/{operation_id}`
   */
  async *watch(
    operationId: string,
    options: Omit<WatchOptions, "lastEventId" | "follow"> = {}
  ): AsyncGenerator<Operation, void, undefined> {
    const { connection } = this.caller
    const open = (_: string | null, isFirst: boolean): Promise<Response> =>
      connection.send(
        {
          method: "GET",
          path: path`/v1/operations/${operationId}`,
          headers: { accept: "text/event-stream" },
          isRepeatable: true,
          options: { signal: options.signal, ...(isFirst ? {} : { retry: false }) }
        },
        (response) => Promise.resolve(response)
      )
    for await (const { event, data } of watch<OperationMessage>({ open, retry: connection.retry }, options)) {
      yield data
      if (event === "operation:end") return
    }
  }

  /** Waits until the operation has ended, and returns it. An abort of the signal stops the wait, not the operation. */
  async wait(operationId: string, options: OperationWaitOptions = {}): Promise<Operation> {
    const { onProgress, intervalMs = defaultIntervalMs, ...request } = options
    while (true) {
      const operation = await this.get(operationId, request)
      onProgress?.(operation)
      if (operation.ended_at !== null) return operation
      await sleep(intervalMs, request.signal)
    }
  }
}
