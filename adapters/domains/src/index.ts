export { type AcmeOptions, acme } from "./Acme.ts"
export { external } from "./External.ts"
export { type NodeDnsOptions, nodeDns } from "./NodeDns.ts"
export type { TxtRecords } from "./TxtRecords.ts"
