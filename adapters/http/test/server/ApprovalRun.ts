/** Runs of the module `approvals`, which wait for a token. */
import { tokenUrls } from "./functions.ts"
import type { TestServer } from "./TestServer.ts"

export interface WaitingRun {
  readonly run_id: string
  readonly url: string
}

/** Starts a run that waits for its token. Deploys the module to the project `approvals` before the first one. */
export const waitingRun = async (server: TestServer, options: object = {}): Promise<WaitingRun> => {
  if ((await server.call("GET", "/v1/projects/approvals")).status === 404) await server.deploy("approvals", "approvals")
  const json = { event_type: "approval:wanted", event_data: options }
  const { event_id } = (await server.call("POST", "/v1/events", { json })).json.data
  while (true) {
    const [run] = (await server.call("GET", `/v1/events/${event_id}/runs`)).json.data
    const url = tokenUrls.get(run?.run_id)
    if (url !== undefined) return { run_id: run.run_id, url }
  }
}
