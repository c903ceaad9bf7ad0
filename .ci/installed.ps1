# Tests the package on a real Windows: it installs the package, checks what Windows makes of the service,
# and stops, upgrades and removes it. Use a disposable PC: ci.yml runs it on GitHub.
#
#   .ci/installed.ps1 OLD.msi NEW.msi OLDVERSION NEWVERSION
#
# It has not been run yet.
param([string]$old, [string]$new, [string]$oldVersion, [string]$newVersion)
$ErrorActionPreference = 'Stop'
$PSNativeCommandUseErrorActionPreference = $false # the script checks each exit code
$url, $data = 'http://127.0.0.1:8080', "$env:ProgramData\Firefighters"
$program = "$env:ProgramFiles\Firefighters\firefighters.exe"

function Need([bool]$condition, [string]$what, $details) {
    if (-not $condition) { throw "$what`n$($details | Out-String)" }
    "ok  $what"
}

# Installer runs the Windows Installer and waits for it.
function Installer([string]$how, [string]$package) {
    $log = Join-Path $env:TEMP 'installer.log'
    $process = Start-Process msiexec -ArgumentList $how, "`"$package`"", '/qn', '/norestart', '/l*v', "`"$log`"" -Wait -PassThru
    if ($process.ExitCode -ne 0) { throw "msiexec $how ends with $($process.ExitCode)`n$(Get-Content $log -Tail 60 | Out-String)" }
}

# Firefighters runs a command of the program. The command must succeed.
function Firefighters {
    $output = & $program @args 2>&1 | Out-String
    if ($LASTEXITCODE -ne 0) { throw "firefighters $args exit code $LASTEXITCODE`n$output" }
    $output
}

function Wait-Until([string]$what, [scriptblock]$condition) {
    foreach ($try in 1..120) {
        if (& $condition) { return "ok  $what" }
        Start-Sleep 1
    }
    throw "not within two minutes: $what`n$(& $program service status 2>&1 | Out-String)"
}

function Test-Ready {
    try { (Invoke-RestMethod "$url/readyz").status -eq 'ready' } catch { $false }
}

function Get-People {
    (Invoke-RestMethod "$url/api/v1/firefighters" -Headers @{ Authorization = "Bearer $key" }).data.items.lastName
}

'== installed'
Installer '/i' $old
Need ((Get-Service Firefighters).Status -eq 'Running') 'the service is running' (Firefighters service status)
Wait-Until 'it is ready' { Test-Ready }
Need ((Firefighters service status).Contains($oldVersion)) "its version is $oldVersion"

'== the service in Windows: sc qc, qfailure, sdshow'
$config = sc.exe qc Firefighters | Out-String
$config
Need ($config -match 'AUTO_START\s+\(DELAYED\)') 'it starts with Windows, delayed' $config
Need ($config -match 'SERVICE_START_NAME\s*:\s*NT SERVICE\\Firefighters') 'it has a separate account' $config
$failure = sc.exe qfailure Firefighters | Out-String
Need ($failure -match 'RESTART') 'it is restarted after a failure' $failure
$descriptor = (sc.exe sdshow Firefighters | Out-String).Trim()
$descriptor
# Each entry of the list is (A;;rights;;;who). Only SYSTEM (SY) and administrators (BA) may change the
# service (DC), delete it (SD), change its permissions (WD, WO), start it (RP) or stop it (WP).
$entries = [regex]::Matches($descriptor.Split('S:')[0], '\(A;[^;]*;(?<rights>\w+);[^;]*;[^;]*;(?<who>[^)]+)\)')
Need ($entries.Count -gt 1) 'sdshow lists permissions' $descriptor
foreach ($entry in $entries) {
    $who = $entry.Groups['who'].Value
    $rights = [regex]::Matches($entry.Groups['rights'].Value, '..').Value
    $forbidden = $rights | Where-Object { $_ -in 'DC', 'SD', 'WD', 'WO', 'RP', 'WP' }
    Need ($who -in 'SY', 'BA' -or -not $forbidden) "$who may $rights" $descriptor
}

'== the folder of the data: icacls'
$permissions = icacls $data | Out-String
$permissions
$found = [regex]::Matches($permissions, '(?<who>(NT AUTHORITY|BUILTIN|NT SERVICE)\\\w+|Everyone|CREATOR OWNER):(?<rights>\S+)')
$rights = $found | ForEach-Object { $_.Groups['who'].Value + ':' + $_.Groups['rights'].Value } | Sort-Object
$wanted = 'BUILTIN\Administrators:(OI)(CI)(F)', 'NT AUTHORITY\SYSTEM:(OI)(CI)(F)', 'NT SERVICE\Firefighters:(OI)(CI)(M)'
Need (-not (Compare-Object $rights $wanted)) 'only the service, the administrators and SYSTEM have access, and it inherits nothing' $permissions
$inside = icacls "$data\firefighters.db" | Out-String
Need ($inside -notmatch 'Users|Everyone|CREATOR OWNER') 'no one else can access the database' $inside
Need ((Get-Acl $data).Owner -eq 'BUILTIN\Administrators') 'the administrators own it' (Get-Acl $data | Format-List | Out-String)

'== a record, and a forced stop'
$key = [regex]::Match((Firefighters keys create --tenant default), 'ff_\w+').Value
Invoke-RestMethod "$url/api/v1/firefighters" -Method Post -ContentType 'application/json' -Headers @{ Authorization = "Bearer $key" } `
    -Body '{"firstName":"Ana","lastName":"Horvat"}' | Out-Null
$before = (Get-CimInstance Win32_Service -Filter "Name='Firefighters'").ProcessId
Stop-Process -Id $before -Force
Wait-Until 'Windows restarts it' { (Get-CimInstance Win32_Service -Filter "Name='Firefighters'").ProcessId -notin 0, $before -and (Test-Ready) }
Need ((Get-People) -contains 'Horvat') 'the record exists'
$events = Get-WinEvent -FilterHashtable @{ LogName = 'Application'; ProviderName = 'Firefighters' } -MaxEvents 5
Need ($events.Count -gt 0 -and -not ($events.Message -match 'ff_')) 'it writes to the event log, without a key' $events

'== stopped and started'
Firefighters service stop
Need ((Get-Service Firefighters).Status -eq 'Stopped') 'it is stopped'
Firefighters service start
Wait-Until 'it is ready again' { Test-Ready }

'== the settings on the page'
# Press opens a page of the settings, or sends its form, as a browser on this PC does.
function Press([string]$path, [string]$form) {
    $data = @(if ($form) { '--data', $form })
    curl.exe -sS -L -b $cookies -H "Origin: $url" -H 'Sec-Fetch-Site: same-origin' @data "$url/office/settings$path" | Out-String
}
# Get-Status returns the status of a response, or 000 if nothing answers.
function Get-Status { curl.exe -sk -o NUL -w '%{http_code}' @args }

$cookies, $disk, $tls = (Join-Path $env:TEMP 'cookies'), 'C:\Disk', 'https://127.0.0.1:8443/ca.crt'
$before = (Get-CimInstance Win32_Service -Filter "Name='Firefighters'").ProcessId
$admin = [regex]::Match((Firefighters keys create --tenant default --scope admin), 'ff_\w+').Value
curl.exe -sS -o NUL -c $cookies -H "Origin: $url" --data "key=$admin" "$url/office/sign-in"
$page = Press ''
Need ($page.Contains('id="folder"')) 'an admin on this PC can open them' $page
$status = Get-Status -b $cookies -H 'X-Forwarded-For: 192.0.2.1' "$url/office/settings"
Need ($status -eq '403') 'a proxy cannot' $status
$page = Press '/network' 'allow=1'
Need ((Get-Status $tls) -eq '000') 'other devices stay out until that is confirmed' $page
$page = Press '/network' 'allow=1&confirmed=1'
Need ((Get-Status $tls) -eq '200') 'then they can connect and get the certificate' $page
Need ($page.Contains('netsh advfirewall')) 'the page shows the command for the firewall' $page
$page = Press '/network' 'confirmed=1'
Need ((Get-Status $tls) -eq '000') 'other devices can be stopped' $page
New-Item -ItemType Directory $disk | Out-Null
icacls $disk /grant 'NT SERVICE\Firefighters:(OI)(CI)(M)' | Out-Null
$page = Press '/folder' "folder=&other=$disk"
Need ($page.Contains(">$disk\firefighters<")) 'a folder for the backups can be chosen' $page
Wait-Until 'a backup is in it' { Test-Path "$disk\firefighters\*.db" }
Need ((Get-CimInstance Win32_Service -Filter "Name='Firefighters'").ProcessId -eq $before) 'no setting restarts the service'

'== another disk for the backups'
$list = & $program service backup-disk 2>&1 | Out-String
$list
$drive = [regex]::Match($list, '(?m)^  ([A-Z]:\\)(?!.*\r?\n\s+not this one)')
if ($drive.Success) {
    Firefighters service backup-disk $drive.Groups[1].Value
    Wait-Until 'the service makes its backups there' { (Invoke-RestMethod "$url/readyz").backup.ok }
    Need (@(Get-ChildItem "$($drive.Groups[1].Value)firefighters" -Filter '*.db').Count -gt 0) 'a backup is on the other disk'
    icacls "$($drive.Groups[1].Value)firefighters"
} else {
    'NOT TESTED: this PC has only one disk'
}

'== upgraded, also while it is stopped'
Installer '/i' $new
Wait-Until 'it is ready after the upgrade' { Test-Ready }
Need ((Firefighters service status).Contains($newVersion)) "its version is $newVersion"
Need ((Get-People) -contains 'Horvat') 'the record exists'
Need ((icacls $data | Out-String) -eq $permissions) 'the permissions are unchanged' (icacls $data | Out-String)

'== removed'
Installer '/x' $new
Need (-not (Get-Service Firefighters -ErrorAction SilentlyContinue)) 'the service is removed'
Need (-not (Test-Path $program)) 'the program is removed'
Need (Test-Path "$data\firefighters.db") 'the records are kept'
