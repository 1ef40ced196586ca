import { EvalEndpoints } from "./generated/EvalEndpoints.ts"
import type { EvaluationInput } from "./generated/Inputs.ts"
import type { Evaluation } from "./generated/Records.ts"
import type { RequestOptions } from "./RequestOptions.ts"

/** Evaluations, whose timeout includes that of the input. */
export class Eval extends EvalEndpoints {
  override run(input: EvaluationInput, options: RequestOptions = {}): Promise<Evaluation> {
    const { timeoutMs = this.caller.connection.timeoutMs + (input.timeout ?? 0) * 1000 } = options
    return super.run(input, { ...options, timeoutMs })
  }
}
