import type { Client } from '@wagate/test-kit/http-client'

type ListedKey = {
  key_id: number
  created_by: number | null
  name: string
  last_four: string
  revoked_at: string | null
}

export async function listKeys(client: Pick<Client, 'get'>, query = {}): Promise<ListedKey[]> {
  return (await client.get('/keys', query)).body.keys as ListedKey[]
}
