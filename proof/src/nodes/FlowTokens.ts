/** Checks that tokens of durable functions are completed once, and that the functions receive the completion. */
import { type Flow, fieldOf } from "./FlowEvidence.ts"
import type { Found, TokenFigures } from "./FlowFindings.ts"
import { tokenName } from "./FlowGuest.ts"
import type { Completion, Ledger } from "./Ledger.ts"

/** Statuses of a token that is completed or expired. */
const refusals: ReadonlyArray<number | null> = [409, 410]

export const checkTokens = (
  flows: ReadonlyArray<Flow>,
  { completions }: Pick<Ledger, "completions">,
  found: Found
): TokenFigures => {
  const ofRun = Map.groupBy(completions, ({ run_id }) => run_id)
  let tokens = 0
  for (const { runs } of flows) {
    for (const { run, results } of runs) {
      const answer = results.find(({ kind, name }) => kind === "completion" && name === tokenName)?.value
      const requests = ofRun.get(run.run_id) ?? []
      if (fieldOf(answer, "ok") === true) tokens++
      checkRequests(run.run_id, requests, found)
      checkAnswer(run.run_id, answer, requests, found)
    }
  }
  return { tokens, refused: completions.filter(({ status }) => status === 409).length }
}

const checkRequests = (runId: string, requests: ReadonlyArray<Completion>, found: Found): void => {
  const accepted = requests.filter(({ status }) => status === 200)
  const first = Math.min(...accepted.map(({ to }) => to))
  // A request of unknown outcome has no status.
  const isRepeated = requests.some(({ from, status }) => from > first && status !== null && !refusals.includes(status))
  if (accepted.length <= 1 && !isRepeated) return
  found("tokens that were completed twice", `${runId}: ${JSON.stringify(requests)}`)
}

const checkAnswer = (runId: string, answer: unknown, requests: ReadonlyArray<Completion>, found: Found): void => {
  const accepted = requests.find(({ status }) => status === 200)
  const data = fieldOf(answer, "ok") === true ? fieldOf(answer, "data") : undefined
  const isRight =
    accepted === undefined
      ? data === undefined || requests.some(({ status, value }) => status === null && value === data)
      : data === accepted.value
  if (isRight) return
  const sample = `${runId}: ${JSON.stringify(answer)} for ${JSON.stringify(requests)}`
  found("completions that their flow did not receive", sample)
}
