import type { ReplInput, ReplSessionInput } from "./generated/Inputs.ts"
import type { ReplCompletion, ReplResult, ReplSession } from "./generated/Records.ts"
import { ReplEndpoints } from "./generated/ReplEndpoints.ts"
import type { RequestOptions } from "./RequestOptions.ts"

/** An open session. It keeps the variables of its inputs, until it ends. */
export interface OpenReplSession extends ReplSession {
  /** Evaluates an input: statements and expressions, with `await` at the top level. */
  readonly input: (input: string | ReplInput, options?: RequestOptions) => Promise<ReplResult>
  /** Completes the name or member before the cursor; by default at the end of the source. */
  readonly complete: (source: string, cursor?: number, options?: RequestOptions) => Promise<ReplCompletion>
  readonly close: (options?: RequestOptions) => Promise<void>
}

/** Sessions, whose timeouts include those of inputs. */
export class Repl extends ReplEndpoints {
  override async open(input: ReplSessionInput = {}, options: RequestOptions = {}): Promise<OpenReplSession> {
    const session = await super.open(input, options)
    return {
      ...session,
      input: (given, own) => this.input(session.repl_id, typeof given === "string" ? { source: given } : given, own),
      complete: (source, cursor = source.length, own = {}) => this.complete(session.repl_id, { source, cursor }, own),
      close: (own) => this.close(session.repl_id, own)
    }
  }

  override input(replId: string, input: ReplInput, options: RequestOptions = {}): Promise<ReplResult> {
    const { timeoutMs = this.caller.connection.timeoutMs + (input.timeout ?? 0) * 1000 } = options
    return super.input(replId, input, { ...options, timeoutMs })
  }
}
