// Where a Mailroom is, and the key that calls it.
import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow';

export class MailroomApi implements ICredentialType {
  name = 'mailroomApi';

  displayName = 'Mailroom API';

  icon = { light: 'file:../icons/mailroom.svg', dark: 'file:../icons/mailroom.dark.svg' } as const;

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mailroom';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      required: true,
      default: '',
      placeholder: 'https://mail.example.com',
      description: 'The address under which people open Mailroom',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      required: true,
      default: '',
      description:
        'A key that begins with rk_live_, or with rk_test_ for the sandbox. The trigger needs one with the scope admin.',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.trim().replace(/(\\/api\\/v1)?\\/*$/, "")}}',
      url: '/api/v1/me',
    },
  };
}
