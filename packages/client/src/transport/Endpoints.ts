import type { Caller } from "./Caller.ts"

/** What the methods of all groups have in common: somebody who calls. */
export abstract class Endpoints {
  protected readonly caller: Caller

  constructor(caller: Caller) {
    this.caller = caller
  }
}
