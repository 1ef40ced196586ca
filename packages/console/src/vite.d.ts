/// <reference types="vite/client" />

/** Made by `svcMembers.ts` from the types of the SDK. */
declare module "virtual:svc-members" {
  export interface SvcMember {
    readonly name: string
    readonly isMethod: boolean
    readonly detail: string
    readonly info: string
    readonly members: ReadonlyArray<SvcMember>
  }
  export const members: ReadonlyArray<SvcMember>
}
