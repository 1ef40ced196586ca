/** An agent: the model chooses tools until it has an answer. Each turn of the model and each call of a tool is a step. */
import { durable } from "@weft/sdk"
import * as z from "zod"

const Question = z.object({ question: z.string() })

const ToolCall = z.object({ tool: z.enum(["weather", "distance"]), input: z.string() })

const Turn = z.union([z.object({ answer: z.string() }), z.object({ calls: z.array(ToolCall) })])

const turnsMax = 8

const ask = async (path: string, body: unknown): Promise<unknown> => {
  const response = await fetch(`https://models.example.test/${path}`, { method: "POST", body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} responded with ${response.status}`)
  return response.json()
}

const options = { event: "question:asked", data: Question, retry: { attempts: 4, delay: "2s" } } as const

export const answer = durable(options, async (event, svc) => {
  const messages: Array<unknown> = [{ role: "user", content: event.event_data.question }]
  for (let turns = 1; turns <= turnsMax; turns++) {
    const turn = await svc.step("model", async () => Turn.parse(await ask("chat", { messages })))
    if ("answer" in turn) return { answer: turn.answer, turns }
    const results = await Promise.all(
      turn.calls.map(({ tool, input }) => svc.step(`tool ${tool}`, () => ask(`tools/${tool}`, { input })))
    )
    messages.push({ role: "assistant", calls: turn.calls }, { role: "tool", results })
  }
  return { answer: null, turns: turnsMax }
})
