/** What may be done with which resources, such as `{"event:order:created": ["create"]}`. */
export type Permissions = Readonly<Record<string, ReadonlyArray<string>>>
