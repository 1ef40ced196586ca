/** A DNS server on loopback with records set by the test. It follows CNAMEs as a recursive server does. */
import DNS from "dns2"

const { Packet } = DNS

/** The content of a record, in the library's fields for its type. */
type RecordData = Pick<DNS.Packet.Resource, "type"> & Partial<DNS.Packet.Resource>

export class DnsServer {
  /** CNAME records by lower-case name. */
  readonly cnames = new Map<string, string>()
  readonly addresses = new Map<string, ReadonlyArray<string>>()
  readonly texts = new Map<string, Set<string>>()
  /** Names of all TXT records that were ever set. */
  readonly history: Array<string> = []
  /** Simulated failure: SERVFAIL for every query, or no response. */
  failure: "none" | "broken" | "silent" = "none"
  port = 0

  private readonly server = DNS.createServer({
    udp: true,
    handle: (request, send) => {
      if (this.failure !== "silent") void send(this.answer(request))
    }
  })

  static async start(): Promise<DnsServer> {
    const made = new DnsServer()
    const { udp } = await made.server.listen({ udp: { port: 0, address: "127.0.0.1" } })
    made.port = udp?.port ?? 0
    return made
  }

  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  readonly put = async (name: string, value: string): Promise<void> => {
    this.texts.set(name, (this.texts.get(name) ?? new Set()).add(value))
    this.history.push(name)
  }

  readonly remove = async (name: string, value: string): Promise<void> => {
    const values = this.texts.get(name)
    values?.delete(value)
    if (values?.size === 0) this.texts.delete(name)
  }

  close(): Promise<void> {
    return this.server.close()
  }

  private answer(request: DNS.Packet): DNS.Packet {
    const response = Packet.createResponseFromRequest(request)
    response.header.ra = 1
    const [question] = request.questions
    if (this.failure === "broken" || question === undefined) {
      response.header.rcode = Packet.RCODE.SERVFAIL
      return response
    }
    let name = question.name.toLowerCase()
    for (let hops = 0; hops < 8; hops++) {
      const at = name
      const cname = this.cnames.get(at)
      const push = (data: RecordData) =>
        response.answers.push(new Packet.Resource({ name: at, class: 1, ttl: 1, ...data }))
      if (cname !== undefined) {
        push({ type: Packet.TYPE.CNAME, domain: cname })
        if (question.type === Packet.TYPE.CNAME) return response
        name = cname.toLowerCase()
        continue
      }
      for (const data of this.at(at, question.type)) push(data)
      if (!this.addresses.has(at) && !this.texts.has(at) && response.answers.length === 0) {
        response.header.rcode = Packet.RCODE.NXDOMAIN
      }
      return response
    }
    return response
  }

  private at(name: string, type: number): ReadonlyArray<RecordData> {
    if (type === Packet.TYPE.TXT) return [...(this.texts.get(name) ?? [])].map((data) => ({ type, data }))
    const own = (this.addresses.get(name) ?? []).filter(
      (address) => address.includes(":") === (type === Packet.TYPE.AAAA)
    )
    return type === Packet.TYPE.A || type === Packet.TYPE.AAAA ? own.map((address) => ({ type, address })) : []
  }
}
