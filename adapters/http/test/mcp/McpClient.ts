/** The protocol's official client of a service. */
import { Client, type ClientOptions } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { TestServer } from "../server/TestServer.ts"

/** Connects a client. `prepare` registers its handlers before. */
export const connectClient = async (
  { listening }: TestServer,
  path: string,
  token: string,
  capabilities: NonNullable<ClientOptions["capabilities"]> = {},
  prepare: (client: Client) => void = () => undefined
): Promise<Client> => {
  const client = new Client({ name: "test", version: "1" }, { capabilities })
  prepare(client)
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  // It implements the interface, except for `undefined` in optional fields.
  const transport = new StreamableHTTPClientTransport(new URL(`${listening.url}${path}`), { requestInit }) as Transport
  await client.connect(transport)
  return client
}
