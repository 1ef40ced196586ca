/** Descriptions of operations whose endpoints have only a summary, by operation id. */
export const operationDescriptions: Readonly<Record<string, string>> = {
  "status.get": "Needs no credential.",
  "status.openapi": "Needs no credential. The document has an `ETag` and does not change while the server runs.",
  "status.metrics": "The text format of Prometheus. Each node has its own metrics.",
  "status.healthz": "For liveness probes. It does not use the store.",
  "status.readyz": "For readiness probes. During a shutdown, and while the store does not respond, the status is 503.",
  "links.open": "The signature in the URL is the credential. Supports ranges and preconditions.",
  "admin.listOrgs": "Needs the admin token.",
  "admin.createOrg": "Needs the admin token. The slug is the first part of the URLs of webhooks and tools.",
  "admin.updateOrg": "Needs the admin token. Fields that are missing stay unchanged.",
  "admin.listEnvs": "Needs the admin token.",
  "admin.createEnv": "Needs the admin token. The name is unique in the organization.",
  "admin.listApiKeys": "Needs the admin token. Tokens are not returned.",
  "admin.createApiKey": "Needs the admin token. Without permissions, the key has all permissions of its environment.",
  "admin.updateApiKey": "Needs the admin token. Sessions and service keys of the key change with it.",
  "admin.removeApiKey": "Needs the admin token. Sessions and service keys of the key are invalid from then on.",
  "admin.resealSecrets": "Needs the admin token. Repeats until no value is encrypted with a previous key.",
  "admin.listNodes":
    "Needs the admin token. Asks all nodes by the cluster bus. A node that is down or disconnected does not answer.",
  "admin.getDiagnosis":
    "Needs the admin token. Writes and removes a blob, and runs code in the sandbox. Each check takes at most 10 s.",
  "admin.listAudit":
    "Needs the admin token. The log contains actions on credentials, secrets, domains, deployments and tenants."
}
