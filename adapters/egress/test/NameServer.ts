/** A real name server with test names. */
import DNS from "dns2"
import { Effect } from "effect"

/** Returns the addresses of a name. */
export type Zone = (name: string, type: "A" | "AAAA") => ReadonlyArray<string>

/** Starts a name server on loopback; `questions` are the queries for A records. */
export const nameServer = (zone: Zone) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const questions: Array<string> = []
      const server = DNS.createServer({
        udp: true,
        handle: (request, send) => {
          const response = DNS.Packet.createResponseFromRequest(request)
          const [question] = request.questions
          if (question !== undefined) {
            const type = question.type === DNS.Packet.TYPE.AAAA ? "AAAA" : "A"
            if (type === "A") questions.push(question.name)
            for (const address of zone(question.name, type)) {
              response.answers.push(DNS.Packet.createResourceFromQuestion(question, { ttl: 0, address }))
            }
          }
          void send(response)
        }
      })
      const { udp } = await server.listen({ udp: { port: 0, address: "127.0.0.1" } })
      return { server, questions, at: `127.0.0.1:${udp?.port}` }
    }),
    ({ server }) => Effect.promise(() => server.close())
  )
