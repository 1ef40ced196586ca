/** A contract waits for a signature for three days. The signer needs only the link in the mail, and no account. */
import { durable } from "@weft/sdk"
import * as z from "zod"

const Contract = z.object({ id: z.string(), signer: z.email() })

/** The page of the link completes the token without data. A program may send who signed. */
const Signature = z.object({ by: z.string() }).nullable()

export const signOff = durable({ event: "contract:drafted", data: Contract }, async (event, svc) => {
  const { id, signer } = event.event_data
  const token = await svc.createToken("signature", { timeout: "3d" })
  await svc.step("ask", () =>
    svc.events.publish({ type: "mail:wanted", data: { to: signer, text: `Sign contract ${id}: ${token.url}` } })
  )
  const answer = await svc.waitForToken(token)
  if (!answer.ok) return { status: "expired" }
  return { status: "signed", by: Signature.parse(answer.data)?.by ?? signer }
})
