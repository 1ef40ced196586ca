/** The methods of `eval`. Generated from the definition of the API: `npm run generate -w packages/client`. */
import type { RequestOptions } from "../RequestOptions.ts"
import { Endpoints } from "../transport/Endpoints.ts"
import type { EvaluationInput } from "./Inputs.ts"
import type { Evaluation } from "./Records.ts"

export class EvalEndpoints extends Endpoints {
  /** Run source text; returns its result, log and usage. With `Accept: text/event-stream`, messages `log` and then `result`. `POST /v1/eval` */
  run(input: EvaluationInput, options: RequestOptions = {}): Promise<Evaluation> {
    return this.caller.one("POST", "/v1/eval", options, { body: input })
  }
}
