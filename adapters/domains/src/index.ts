/** DNS look-ups and certificates, one namespace per technology: `NodeDns.dns()`, `Acme.certificates(…)`. */
export * as Acme from "./Acme.ts"
export * as External from "./External.ts"
export * as NodeDns from "./NodeDns.ts"
export type { TxtRecords } from "./TxtRecords.ts"
