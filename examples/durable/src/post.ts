/** Requests to the shop's other services. */
import type { StepContext } from "@weft/sdk"

/** Sends JSON and returns the JSON of the response. The key lets the service recognize a repetition. */
export const post = async (path: string, body: unknown, { idempotencyKey }: StepContext): Promise<unknown> => {
  const response = await fetch(`https://shop.example.test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${path} responded with ${response.status}`)
  return response.json()
}
