import { CallsEndpoints } from "./generated/CallsEndpoints.ts"
import type { CallInput } from "./generated/Inputs.ts"
import type { Event, Run } from "./generated/Records.ts"
import type { KeyedOptions } from "./RequestOptions.ts"

/** Calls, whose timeout includes the `wait` of the input. */
export class Calls extends CallsEndpoints {
  override call(input: CallInput, options: KeyedOptions = {}): Promise<Run | Event> {
    const { timeoutMs = this.caller.connection.timeoutMs + (input.wait ?? 0) * 1000 } = options
    return super.call(input, { ...options, timeoutMs })
  }
}
